import Foundation
import Testing

@testable import StrataSourceTools

/// `Bundle(for:)`, which is the program's folder on Linux.
@Suite struct PortedBundleTests {
    private func report(_ text: String, hasResources: Bool = true) throws -> (SourcePorter.Report, SourceFixture) {
        let fixture = try SourceFixture([("Stack.swift", text)])
        var porter = SourcePorter(module: "Mod", sources: fixture.paths, workDirectory: fixture.work)
        porter.hasResources = hasResources
        return (try porter.report(), fixture)
    }

    private static let stack = """
        import CoreData

        public class Stack: NSObject {
            class Token {}
            let a = Bundle(for: Stack.self)
            let b = unknown(Bundle.init(for: Stack.Token.self), [Bundle(for: Token.self)])
            lazy var c = Bundle(for: type(of: self))
            static func d() -> Bundle { Bundle(for: self) }
            static func e() -> Bundle { .init(for: Self.self) }
            // Bundle(for: Stack.self)
        }

        """

    @Test func theBundleOfAClassOfTheModuleIsTheModules() throws {
        let (report, _) = try report(Self.stack)
        #expect(report.remaining.isEmpty)
        #expect(
            report.rewritten.values.first == """
                import CoreData

                public class Stack: NSObject {
                    class Token {}
                    let a = Bundle.module
                    let b = unknown(Bundle.module, [Bundle.module])
                    lazy var c = Bundle.module
                    static func d() -> Bundle { Bundle.module }
                    static func e() -> Bundle { Bundle.module }
                    // Bundle(for: Stack.self)
                }

                """)
    }

    @Test func aTargetWithoutResourcesHasNoBundle() throws {
        let (report, _) = try report(Self.stack, hasResources: false)
        #expect(report.rewritten.isEmpty)
        #expect(report.remaining.map(\.line) == [5, 6, 6, 7, 8, 9])
        #expect(report.remaining.allSatisfy { $0.message.contains("this target has no resources") })
        // Such as a target of tests, which wants another one's models.
        #expect(report.remaining.allSatisfy { $0.message.contains("public let modelBundle = Bundle.module") })
    }

    @Test func theMainBundlesModelIsTheTargets() throws {
        let text = """
            import CoreData
            let url = Bundle.main.url(forResource: "Shop", withExtension: "momd")!
            let path = NSManagedObjectModel(x: Bundle.main.path(forResource: "Shop", ofType: "mom"))
            let other = Bundle.main.url(forResource: "Other", withExtension: "momd")
            let image = Bundle.main.url(forResource: "Shop", withExtension: "png")

            """
        let fixture = try SourceFixture([("Stack.swift", text)])
        var porter = SourcePorter(module: "Mod", sources: fixture.paths, workDirectory: fixture.work)
        porter.models = ["Shop"]
        let report = try porter.report()
        #expect(
            report.rewritten.values.first == """
                import CoreData
                let url = Bundle.module.url(forResource: "Shop", withExtension: "momd")!
                let path = NSManagedObjectModel(x: Bundle.module.path(forResource: "Shop", ofType: "mom"))
                let other = Bundle.main.url(forResource: "Other", withExtension: "momd")
                let image = Bundle.main.url(forResource: "Shop", withExtension: "png")

                """)
        #expect(report.remaining.map(\.line) == [4])
        #expect(report.remaining.first?.message.contains("public let modelBundle = Bundle.module") == true)
    }

    @Test(arguments: [
        ("let a = Bundle(for: NSManagedObject.self)", "in the target that has the resources"),
        ("let a = Bundle(for: someClass())", "in the target that has the resources"),
        ("let a = Bundle(identifier: \"com.example.model\")", "is nil on Linux"),
        ("open class A { func f() { _ = Bundle(for: type(of: self)) } }", "in the target that has the resources"),
        ("public class A { public func f(_ b: Bundle = Bundle(for: A.self)) {} }", "which is internal"),
        ("public class A { @inlinable public func f() { _ = Bundle(for: A.self) } }", "which is internal"),
    ])
    func bundlesThatAPersonHasToChooseAreListed(_ text: String, _ expected: String) throws {
        let (report, fixture) = try report("import CoreData\n" + text + "\n")
        #expect(report.rewritten.isEmpty)
        #expect(report.remaining.map(\.line) == [2] && report.remaining.map(\.path) == fixture.paths)
        #expect(report.remaining.first?.message.contains(expected) == true)
    }

    @Test(arguments: ["let a = Bundle(path: \"x\")", "let a = Thing(for: B.self)", "public let a = Bundle.main"])
    func otherBundlesStay(_ text: String) throws {
        let (report, _) = try report("import CoreData\nclass B {}\n" + text + "\n")
        #expect(report.rewritten.isEmpty && report.remaining.isEmpty)
    }
}
