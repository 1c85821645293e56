"""The operator's page: what it shows, read from where it is kept, and the files of the page itself."""
