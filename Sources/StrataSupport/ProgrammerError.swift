/// Stops the program because it uses the library in a way that no return value or thrown error could answer.
///
/// Every such stop goes through here. The message goes to standard error in every build: a failed `precondition` says
/// nothing at all in a release build. Messages name types and properties, never values, which may be users' data.
///
/// The texts are made only when the program stops, outside of the function that calls this, so that a check costs its
/// condition alone.
///
/// - Parameters:
///   - subject: the class, or the entity and property, that was used wrongly.
///   - problem: what is wrong.
///   - remedy: what to do instead.
@inline(never)
package func programmerError(
    _ subject: @autoclosure () -> String, _ problem: @autoclosure () -> String, _ remedy: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
) -> Never {
    fatalError("\(subject()): \(problem()). \(remedy()).", file: file, line: line)
}
