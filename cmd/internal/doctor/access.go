package doctor

import "fmt"

// allowed finds what the mode of a directory means, as chmod takes it. err is why this user may not
// write there.
func allowed(at string, mode uint32, owner, group string, err error) []Finding {
	is := fmt.Sprintf("user %s, group %s, mode %04o", owner, group, mode)
	common := fmt.Sprintf("for several users, %s gives it a common group and mode 2775: chgrp -R GROUP %s && chmod -R g+rwX %s && find %s -type d -exec chmod g+s {} +", owner, at, at, at)
	switch {
	case err != nil:
		return []Finding{problem(common, "this user may not write to %s (%s), and each process that uses a cache must", at, is)}
	case mode&0o002 != 0:
		return []Finding{warning("chmod -R o-w "+at+"; "+common, "every user of the machine may damage %s (%s)", at, is)}
	case mode&0o020 != 0 && mode&0o2000 == 0:
		return []Finding{warning("chmod g+s "+at, "files that others make in %s get another group (%s)", at, is)}
	}
	return []Finding{fine("this user may write to %s (%s)", at, is)}
}
