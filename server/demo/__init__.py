"""`ebbing demo`: a real client and a real server over the history of a repository, with the clock turned forward."""
