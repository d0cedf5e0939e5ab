"""Arguments and help of the commands, one file for each or for those that are alike."""
