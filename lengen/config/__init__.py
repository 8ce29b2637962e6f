"""Settings: what a run is made of, as typed parts; no torch."""
