"""Pages of the repository, the site and the terminal; every answer is in the words of `text`."""
