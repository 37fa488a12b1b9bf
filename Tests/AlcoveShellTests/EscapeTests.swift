import Foundation
import Testing

/// Nothing outside the folder is read, made or changed.
@Suite(.serialized) struct EscapeTests {
    static let attempts = [
        "cat OUT/secret", "cat ../OUTNAME/secret", "cat /workspace/../OUTNAME/secret", "cat link/secret",
        "cat filelink",
        "cat < OUT/secret", "cat < filelink", "read x < filelink; echo \"$x\"", ". filelink", ". OUT/secret",
        "sh OUT/secret",
        "sh filelink", "echo bad > OUT/made", "echo bad > ../OUTNAME/made", "echo bad > link/made",
        "echo bad > filelink",
        "echo bad >> filelink", "exec 3<>filelink; cat <&3; echo bad >&3", "cp filelink here; cat here",
        "cp OUT/secret here; cat here",
        "echo bad >b; cp b filelink", "echo bad >b; cp b OUT/made", "echo bad >b; mv b OUT/made",
        "mv filelink moved; cat moved",
        "mv OUT/secret here; cat here", "rm OUT/secret", "rm -rf OUT", "rm -rf link/", "rm -r ../OUTNAME",
        "rm -rf link/secret",
        "mkdir OUT/made", "mkdir -p link/made", "mkdir -p ../OUTNAME/made", "touch OUT/made", "touch link/made",
        "touch filelink",
        "ls OUT", "ls link/", "ls ..", "ls /", "ls -R /", "echo OUT/*", "echo link/*", "echo ../*/secret", "echo /*",
        "cd ..; cat OUTNAME/secret",
        "cd link && cat secret", "cd OUT && cat secret", "cd /; cat etc/passwd", "cat /etc/passwd",
        "cat /proc/self/environ", "cat /proc/self/root/etc/passwd",
        "cat /dev/fd/../../etc/passwd", "ls /proc", "cat /dev/mem", "head -1 OUT/secret", "tail -1 filelink",
        "wc filelink", "sort filelink",
        "sort -o OUT/made /dev/null", "echo b | sort -o filelink", "uniq filelink", "echo x >i; uniq i filelink",
        "cut -c1-9 filelink", "grep . filelink",
        "grep -r . OUT", "grep -r . link/", "grep -f filelink filelink", "echo bad | tee filelink",
        "echo bad | tee -a OUT/made", "test -e OUT/secret && echo secret-there",
        "[ -f filelink ] && echo secret-there", "[ filelink -ef OUT/secret ] && echo secret-there",
        "cat <<E\n$(cat filelink)\nE", "x=$(cat OUT/secret); echo $x", "echo `cat filelink`",
        "HOME=OUT; cat ~/secret", "HOME=OUT; cd; cat secret", "CDPATH=OUT cd . ; cat secret",
        "OLDPWD=OUT; cd -; cat secret", "PWD=OUT; cat secret", "PATH=OUT; secret",
        "OUT/secret", "./filelink", "exec filelink", "command OUT/secret", "env OUT/secret",
        "(cd ..; pwd; cat OUTNAME/secret)", "mkdir -p a/b; cd a/b; cat ../../../OUTNAME/secret",
        "cat ./././../OUTNAME/secret", "cat //OUT/secret", "cat 'OUT/./secret'", "cat link/../OUTNAME/secret",
        "cat link/../secret", "rmdir OUT/empty", "rmdir link/empty", "cp -r OUT here; cat here/*",
        "cp -r link here; cat here/*", "mv link moved; cat moved/secret",
        "trap 'cat filelink' EXIT", "f() { cat filelink; }; f", "cat filelink | cat", "cat filelink &\nwait",
        "eval 'cat filelink'", "while read x; do echo $x; done < filelink",
        "sed -n p filelink", "sed -n p OUT/secret", "sed -i s/T/x/ filelink", "sed -i s/T/x/ OUT/secret",
        "echo a | sed 'r filelink'",
        "echo a | sed 'w OUT/made'", "echo a | sed 's/a/b/w filelink'", "sed -f OUT/secret filelink",
        "echo b > b; sed -i.OUT/made s/b/c/ b",
        "awk 1 filelink", "awk 'BEGIN { while ((getline l < \"filelink\") > 0) print l }'",
        "awk 'BEGIN { print \"bad\" > \"OUT/made\" }'",
        "awk 'BEGIN { print \"bad\" >> \"filelink\" }'", "awk 'BEGIN { \"cat filelink\" | getline x; print x }'",
        "awk 'BEGIN { system(\"cat OUT/secret\") }'", "awk 'BEGIN { print \"bad\" | \"cat > OUT/made\" }'",
        "awk -f OUT/secret",
        "find OUT -type f -exec cat {} +", "find link/ -name secret -print -exec cat {} ';'",
        "find . -follow -name secret -exec cat {} ';'",
        "find OUT -name secret -delete", "find link/ -delete", "echo OUT/secret | xargs cat",
        "echo filelink | xargs -I X cat X",
        "diff filelink /dev/null", "diff -r OUT .", "cmp filelink b", "tac filelink", "rev filelink", "nl filelink",
        "od -c filelink",
        "xxd filelink", "base64 filelink | base64 -d", "fold filelink", "paste filelink filelink",
        "comm filelink filelink", "split -l 1 filelink && cat xaa",
        "echo x | split -l 1 - OUT/made", "ln -s OUT/secret mine; cat mine", "ln -s ../OUTNAME/secret mine; cat mine",
        "ln -s /etc/passwd mine; cat mine",
        "ln -sf OUT link; cat link/secret", "ln OUT/secret mine; cat mine", "cp -a link copy; cat copy/secret",
        "cp -r . /tmp/alcove-made; cat filelink",
        "tar cf a.tar OUT; tar xOf a.tar", "tar cf a.tar filelink; tar xOf a.tar", "tar -cf OUT/made b",
        "tar -xf a.tar -C OUT", "echo b > b; tar cf a.tar b; tar xf a.tar -C link",
        "tar chf a.tar link/; tar xOf a.tar", "gzip -c filelink | zcat", "gzip OUT/secret",
        "echo b > b; gzip -c b > OUT/made", "zip a.zip filelink; unzip -p a.zip",
        "zip -r a.zip OUT; unzip -p a.zip", "echo b > b; zip a.zip b; unzip -d OUT a.zip",
        "echo b > b; zip a.zip b; unzip -d link a.zip",
        "printf -- '--- a\n+++ OUT/made\n@@ -0,0 +1 @@\n+bad\n' | patch",
        "printf -- '--- OUT/secret\n+++ OUT/secret\n@@ -1 +1 @@\n-TOPSECRET content\n+bad\n' | patch -p0",
        "chmod 777 OUT/secret; stat OUT/secret", "chmod -R 000 link/", "touch -d 2001-01-01 OUT/secret",
        "touch -r OUT/secret mine", "truncate -s 0 filelink", "truncate -s 0 OUT/secret",
        "du OUT", "stat filelink && cat \"$(readlink filelink)\"", "cat \"$(realpath filelink)\"",
        "readlink -f filelink | xargs cat", "mktemp -p OUT", "mktemp OUT/XXXXXX",
        "mapfile -t a < filelink; echo ${a[0]}", "x=$(<filelink); echo $x", "source filelink", "cat <(cat filelink)",
        "echo bad > >(cat > OUT/made); wait", "cat <<< \"$(cat OUT/secret)\"",
        "[[ -f filelink ]] && echo secret-there", "[[ OUT/secret -nt /dev/null ]] && echo secret-there",
        "read -r x < OUT/secret; echo $x", "exec 5< filelink; cat /dev/fd/5",
        "cat /dev/fd/../../proc/self/environ", "cat /proc/1/root/OUT/secret", "cat /dev/stdin/../../OUT/secret",
        "jq -R . filelink", "jq -n --rawfile x OUT/secret '$x'", "jq -n --slurpfile x filelink '$x'",
        "jq -n 'input' filelink", "shopt -s globstar; cat link/**", "for f in link/* OUT/*; do cat $f; done",
        "pushd OUT && cat secret", "sha256sum filelink && grep TOP filelink", "file filelink && head -c 20 filelink",
        "timeout 5 cat filelink", "time cat filelink", "nohup cat filelink", "bash -c 'cat filelink'",
        "eval \"$(echo Y2F0IGZpbGVsaW5r | base64 -d)\"", "printf -v x %s \"$(cat filelink)\"; echo $x",
        "HOME=OUT bash -c 'cat ~/secret'",
        "cat hardlink > /dev/null; echo bad > hardlink", "echo bad >> hardlink", "exec 3<>hardlink; echo bad >&3",
    ]

    @Test(arguments: attempts) func nothingOutsideIsReached(_ attempt: String) throws {
        let (inside, outside) = (ScratchFolder(), ScratchFolder())
        let secret = "TOP" + "SECRET content\n"
        try secret.write(toFile: outside.path + "/secret", atomically: false, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: outside.path + "/empty", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: inside.path + "/link", withDestinationPath: outside.path)
        try FileManager.default.createSymbolicLink(
            atPath: inside.path + "/filelink", withDestinationPath: outside.path + "/secret")
        try FileManager.default.linkItem(atPath: outside.path + "/secret", toPath: inside.path + "/hardlink")
        let name = String(outside.path.split(separator: "/").last ?? "")
        let script = attempt.replacing("OUTNAME", with: name).replacing("OUT", with: outside.path)

        let (run, error, _) = ScriptRun.here(script, in: inside.path)

        let said = String(decoding: run.output, as: UTF8.self) + error
        #expect(!said.contains("TOPSECRET"), "\(script): \(said)")
        #expect(!said.contains("root:x:"), "\(script): \(said)")
        #expect(!said.contains("secret-there"), "\(script): \(said)")
        #expect(try String(contentsOfFile: outside.path + "/secret", encoding: .utf8) == secret, "\(script)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: outside.path).sorted() == ["empty", "secret"],
            "\(script)")
        #expect(!FileManager.default.fileExists(atPath: "/tmp/alcove-made"))
    }
}
