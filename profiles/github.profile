# GitHub over https and ssh: the hosts that its documentation names for git, its
# API, releases, raw files, large files and archives. What programs run there
# can be anyone's, and a request can carry data away.

[profile]
description = GitHub: git over https and ssh, the API, releases and raw files
abuse = It can send whatever it reads to a repository, gist or issue of anyone on GitHub, and fetch any program from there.

[egress]
allow = https://github.com:443
allow = tcp://github.com:22
allow = https://api.github.com:443
allow = https://uploads.github.com:443
allow = https://codeload.github.com:443
allow = https://raw.githubusercontent.com:443
allow = https://objects.githubusercontent.com:443
allow = https://release-assets.githubusercontent.com:443
allow = https://gist.github.com:443
allow = https://gist.githubusercontent.com:443
allow = https://media.githubusercontent.com:443
allow = https://github-cloud.githubusercontent.com:443
allow = https://github-cloud.s3.amazonaws.com:443
