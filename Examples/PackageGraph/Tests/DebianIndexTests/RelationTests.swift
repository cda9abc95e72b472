import Testing

@testable import DebianIndex

@Suite("Dependencies")
struct RelationTests {
    @Test("Groups, alternatives, versions and architectures")
    func parsesRelations() throws {
        let index = try readIndex(
            "Package: a\nVersion: 1\nDepends: b|c (>=1:2~rc1) , d:any(<< 3) | e ( = 4 ),f (> 5), g (< 6),, h (>> 7),\n")
        #expect(
            index.relations("a", .depends) == [
                "0.0 ?b", "0.1 ?c (>= 1:2~rc1)", "1.0 ?d:any (<< 3)", "1.1 ?e (= 4)", "2.0 ?f (>= 5)",
                "3.0 ?g (<= 6)", "4.0 ?h (>> 7)",
            ])
    }

    @Test("Each field has its kind")
    func keepsKinds() throws {
        let fields = DependencyKind.allCases.map { "\($0.fieldName): t\($0.rawValue)\n" }.joined()
        let index = try readIndex("Package: a\nVersion: 1\n\(fields)")
        for kind in DependencyKind.allCases where kind != .provides {
            #expect(index.relations("a", kind) == ["0.0 ?t\(kind.rawValue)"])
        }
        #expect(index.relations("a", .provides) == ["0.0 t8"])
    }

    @Test("Targets are found whether they come before, after or nowhere")
    func resolvesTargets() throws {
        let index = try readIndex(
            "Package: a\nVersion: 1\nDepends: b, a, nowhere\n\nPackage: b\nVersion: 1\nDepends: a\n")
        #expect(index.relations("a", .depends) == ["0.0 b", "1.0 a", "2.0 ?nowhere"])
        #expect(index.relations("b", .depends) == ["0.0 a"])
    }

    @Test("A name that is provided becomes one virtual package; a real one stays real")
    func makesVirtualPackages() throws {
        let index = try readIndex(
            """
            Package: user
            Version: 1
            Depends: exim4 | mail-transport-agent

            Package: postfix
            Version: 1
            Provides: mail-transport-agent, exim4 (= 4)

            Package: exim4
            Version: 1
            Provides: mail-transport-agent
            """)
        #expect(index.packages.map(\.name) == ["user", "postfix", "exim4", "mail-transport-agent"])
        #expect(index.virtualPackageCount == 1)
        #expect(index.packages.map(\.isVirtual) == [false, false, false, true])
        #expect(index.relations("user", .depends) == ["0.0 exim4", "0.1 mail-transport-agent"])
        #expect(index.relations("postfix", .provides) == ["0.0 mail-transport-agent", "1.0 exim4 (= 4)"])
    }

    @Test("Of several stanzas of a name the latest version counts, with its dependencies only")
    func keepsLatestVersion() throws {
        let index = try readIndex(
            "Package: a\nVersion: 1.9\nDepends: old\n\nPackage: b\nVersion: 1\n",
            "Package: a\nVersion: 1.10\nDepends: new\n\nPackage: b\nVersion: 1\nDepends: x\n\n"
                + "Package: a\nVersion: 1.10~rc1\nDepends: x\n")
        #expect(index.packages.map(\.name) == ["a", "b"])
        #expect(index.package("a")?.version == "1.10")
        #expect(index.relations("a", .depends) == ["0.0 ?new"])
        #expect(index.relations("b", .depends) == [])
        #expect(index.dependencies.count == 1)
        #expect(index.statistics.stanzaCount == 5)
        #expect(index.statistics.supersededCount == 3)
    }

    @Test("dpkg's status: packages that are not installed are left out")
    func skipsRemovedPackages() throws {
        let index = try readIndex(
            """
            Package: here
            Status: install ok installed
            Version: 1

            Package: gone
            Status: deinstall ok config-files
            Version: 1

            Package: never
            Status: unknown ok not-installed
            """)
        #expect(index.packages.map(\.name) == ["here"])
        #expect(index.statistics.notInstalledCount == 2)
    }

    @Test(
        "Versions compare as dpkg compares them",
        arguments: [
            ("1.0", "1.1"), ("1.9", "1.10"), ("1.0~rc1", "1.0"), ("1.0~~", "1.0~"), ("1.0", "1.0a"), ("1.0a", "1.0+b"),
            ("1.0", "1:0.1"), ("1.0-1", "1.0-2"), ("1.0-1", "1.0-1.1"), ("1.0", "1.0-1"), ("1.0-1", "1.0.1-1"),
            ("2.0-1~bpo1", "2.0-1"), ("1.2.3", "1.02.4"), ("9", "99999999999999999999999"), ("1-2-3", "1-3-1"),
        ])
    func ordersVersions(earlier: String, later: String) {
        #expect(DebianVersion.isEarlier(earlier, than: later))
        #expect(!DebianVersion.isEarlier(later, than: earlier))
        #expect(DebianVersion.compare(earlier, earlier) == 0)
    }

    @Test("Equal versions in different spelling")
    func equalVersions() {
        #expect(DebianVersion.compare("0:1.0-0", "1.0") == 0)
        #expect(DebianVersion.compare("1.02", "1.2") == 0)
    }

    @Test("Near names are suggested, best first")
    func suggestsNames() throws {
        let names = ["bash", "bash-doc", "dash", "zsh", "python3", "python3.11", "libreoffice"]
        let index = try readIndex(names.map { "Package: \($0)\nVersion: 1\n\n" }.joined())
        #expect(index.names(near: "bahs").first == "bash")
        #expect(index.names(near: "bas").first == "bash")
        #expect(index.names(near: "Python3") == ["python3", "python3.11"])
        #expect(index.names(near: "libreofice") == ["libreoffice"])
        #expect(index.names(near: "quite-another-thing").isEmpty)
    }
}
