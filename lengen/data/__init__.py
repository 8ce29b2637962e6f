"""Problems to batches, and batches to a trainer."""
