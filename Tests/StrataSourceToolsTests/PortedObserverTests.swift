import Foundation
import Testing

@testable import StrataSourceTools

/// Observers of notifications, for which Strata takes a method in the selector's place.
@Suite struct PortedObserverTests {
    private func report(_ text: String, hasCoreData: Bool = true) throws -> (SourcePorter.Report, SourceFixture) {
        let fixture = try SourceFixture([("File.swift", text)])
        var porter = SourcePorter(module: "Mod", sources: fixture.paths, workDirectory: fixture.work)
        porter.hasCoreData = hasCoreData
        return (try porter.report(), fixture)
    }

    private static let stack = """
        import Foundation

        class Base: NSObject {
            @objc func inherited() {}
        }

        final class Stack: Base {
            override init() {
                super.init()
                NotificationCenter.default.addObserver(
                    self, selector: #selector(changed(_:)), name: NSNotification.Name("a"), object: nil)
                let center = NotificationCenter.default
                center.addObserver(self, selector: #selector(tick), name: nil, object: self)
                center.addObserver(self, selector: #selector(Stack.old(note:)), name: nil, object: nil)
                center.addObserver(self, selector: #selector(self.inherited), name: nil, object: nil)
                center.addObserver(Helper.shared, selector: #selector(Helper.help(_:)), name: nil, object: nil)
            }

            @objc private func changed(_ notification: Notification) {}
            deinit { NotificationCenter.default.removeObserver(self) }
        }

        extension Stack {
            @objc func tick() {}
            @objc func old(note: NSNotification) {}
            func again() {
                NotificationCenter.default.addObserver(self, selector: #selector(Self.any), name: nil, object: nil)
            }
            @objc func any(_ sender: Any?) {}
        }

        class Helper {
            static let shared = Helper()
            @objc func help(_ n: Notification) {}
        }

        """

    @Test func selectorsOfObserversBecomeMethods() throws {
        let (report, fixture) = try report(Self.stack)
        let text = try #require(report.rewritten.values.first)
        #expect(text.hasPrefix("import CoreData\nimport Foundation\n"))
        for method in [
            "Stack.changed(_:), name", "Stack.tick, name", "Stack.old(note:), name", "Stack.inherited, name",
            "Helper.help(_:), name", "Stack.any, name",
        ] {
            #expect(text.contains("selector: \(method)"))
        }
        #expect(!text.contains("#selector") && report.remaining.isEmpty)
        #expect(text.contains("deinit { NotificationCenter.default.removeObserver(self) }"))
        try fixture.write("File.swift", text)
        #expect(try fixture.report().rewritten.isEmpty)
    }

    /// Foundation's does nothing with an observer that is no token.
    @Test func aFileThatRemovesAnObserverImportsCoreData() throws {
        let (report, _) = try report(
            "import Foundation\nclass A {\n    func end() { NotificationCenter.default.removeObserver(self) }\n}\n")
        #expect(report.rewritten.values.first?.hasPrefix("import CoreData\n") == true)
    }

    @Test(arguments: [
        "center.addObserver(self, selector: #selector(missing), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(number), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(two(_:_:)), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(text(_:)), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(twice), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(type), name: nil, object: nil)",
        "center.addObserver(self, selector: #selector(main), name: nil, object: nil)",
        "center.addObserver(other, selector: #selector(tick), name: nil, object: nil)",
        "center.observe(self, selector: #selector(tick), name: nil, object: nil)",
    ])
    func selectorsThatAreNotCertainAreListed(_ call: String) throws {
        let (report, _) = try report(
            """
            import CoreData
            class A {
                func observe(_ center: NotificationCenter, _ other: AnyObject) {
                    \(call)
                }
                @objc func tick() {}
                @objc func number() -> Int { 1 }
                @objc func two(_ a: Notification, _ b: Int) {}
                @objc func text(_ a: String) {}
                @objc func twice() {}
                @objc func twice(_ n: Notification) {}
                @objc class func type() {}
                @MainActor @objc func main() {}
            }

            """)
        #expect(report.remaining.map(\.line) == [4])
        #expect(report.rewritten.values.first?.contains("selector: #selector(") == true)
    }

    @Test func aTargetThatCannotImportCoreDataIsTold() throws {
        let (report, _) = try report(Self.stack, hasCoreData: false)
        #expect(report.rewritten.values.first?.contains("#selector(changed(_:))") == true)
        #expect(report.remaining.contains { $0.message.contains("depend on the product CoreData") })
    }
}
