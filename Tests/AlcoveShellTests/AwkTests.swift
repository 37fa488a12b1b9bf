import Testing

/// Where Debian's awk (mawk) counts bytes or prints otherwise than POSIX asks.
struct AwkTests {
    @Test(arguments: [
        ("awk 'BEGIN{print length(\"日本\"), substr(\"日本語\",2,1), index(\"日本語\",\"語\")}'", "2 本 3\n"),
        (
            "awk 'BEGIN{print 1e20, 100000*100000; print substr(\"hello\",-1,3) \"|\" substr(\"hello\",0)}'",
            "100000000000000000000 10000000000\nh|hello\n"
        ),
        ("awk 'BEGIN{print gensub(/(a)(b)/,\"\\\\2\\\\1\",\"g\",\"abab\"); print tolower(\"É\")}'", "baba\né\n"),
        (
            "awk 'BEGIN{if (match(\"k=v\", /(.)=(.)/, m)) print m[1], m[2]; print strftime(\"%Y\", 0, 1)}'",
            "k v\n1970\n"
        ),
        (
            "awk 'function f(a) {a[\"x\"]=1} BEGIN{f(b); for (k in b) print k; n=asort(c); print n, length(b)}'",
            "x\n0 1\n"
        ),
        (
            "printf 'a\\377b\\n' | awk '{print length($0)}' | cat; printf 'x\\377y\\n' | sed 's/x/z/' | od -An -tx1",
            "3\n 7a ff 79 0a\n"
        ),
    ])
    func counts(_ script: String, _ wanted: String) {
        let folder = ScratchFolder()
        let (run, error, _) = ScriptRun.here(script, in: folder.path)
        #expect(String(decoding: run.output, as: UTF8.self) == wanted, "\(script)\n\(error)")
    }

    @Test(arguments: [
        "awk 'BEGIN { print 1 +'", "awk 'BEGIN { f(1) }'", "awk '{ print'", "sed 's/a/b'", "sed 'k'", "jq '.a['",
        "find . -nmae x",
    ])
    func faultsSayWhatIsWrong(_ script: String) {
        let folder = ScratchFolder()
        let (run, error, _) = ScriptRun.here(script, in: folder.path)
        #expect(run.status != 0)
        #expect(error.hasPrefix("sh: line 1: ") && error.count > 30, "\(script): \(error)")
    }
}
