"""Reading populations whose users' own means vary: the NPMLE of user means, and the segments to ask about next."""
