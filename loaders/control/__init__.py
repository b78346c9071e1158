"""Running commands on the data: in this process, or over its control socket in the one that holds the data path."""
