"""From a setting to a trained model: build, train, resume."""
