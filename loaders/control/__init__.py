"""Running a command on the data: in this process, or in the one that holds the data path, over its control socket."""
