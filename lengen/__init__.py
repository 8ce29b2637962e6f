"""What all papers share, in the order data passes through it: task, format, position ids, data, model, records."""
