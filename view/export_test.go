package view

import "time"

func init() { followInterval = 20 * time.Millisecond }

// Fill makes s as busy as it can be, until free is called.
func (s *Server) Fill() (free func()) {
	for range cap(s.waiting) {
		s.waiting <- struct{}{}
	}
	return func() {
		for range cap(s.waiting) {
			<-s.waiting
		}
	}
}
