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
    }
}
