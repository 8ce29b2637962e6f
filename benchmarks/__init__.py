"""Speed, as ratios measured on this machine; beside the program, as the tests are."""
