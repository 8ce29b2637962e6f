"""Output for people: terminal, figures, report."""
