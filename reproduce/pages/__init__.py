"""What people read: pages of the repository, the site, the terminal; every answer in the words of `text`."""
