"""What people look at: terminal, figures, report."""
