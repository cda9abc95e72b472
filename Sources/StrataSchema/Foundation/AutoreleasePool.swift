/// Runs a block and returns what it returns.
///
/// On Apple's platforms it frees what was handed out autoreleased meanwhile. On Linux objects are freed as soon as
/// nobody refers to them, so there is nothing to do; it lets code that is written for both compile.
/// - Throws: what the block throws.
@inlinable
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
