# db:schema:load of what db:schema:dump wrote gives the same database, twice: with the ActiveRecord of Debian 12 (6.1)
# or of this system, and with that of Debian 13 (7.2), which has a root directory of its own.
databases() {
    local number
    for number in 1 2 3 4; do database "rails_$number"; done
}
use_debian ruby-activerecord ruby-pg
tested_with "ActiveRecord $(dpkg-query -W -f '${source:Upstream-Version}' ruby-activerecord), and that of Debian 13"
databases
report /usr/bin/ruby app.rb

[ "$(id -u)" = 0 ] || skip "the ActiveRecord of Debian 13 needs root, for a chroot"
use_debian debootstrap
uri=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
debian13() { debootstrap --variant=minbase --include=ruby-activerecord,ruby-pg trixie "$tree" ${uri:+"$uri"}; }
once packages "$tree" debian13
cp app.rb written_by_7_2.rb "$tree/tmp/"
databases
report chroot "$tree" sh -c 'cd /tmp && exec /usr/bin/ruby app.rb'
