"""What a user's Dataset or transform costs: op by op, line by line, file by file."""
