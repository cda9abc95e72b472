#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// What the compiler asks to expand `@Managed` and `@ManagedObject`.
@main
struct StrataMacros: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [ManagedMacro.self, ManagedObjectMacro.self]
}
#else
/// Without the trait `Macros` there is nothing to expand, and swift-syntax is not fetched.
@main
enum StrataMacros {
    static func main() {}
}
#endif
