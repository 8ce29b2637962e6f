"""Speed, as ratios measured on this machine."""
