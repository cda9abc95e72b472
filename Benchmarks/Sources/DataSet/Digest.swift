/// A cheap sum over every decoded field, so that no contestant can skip the decoding of one.
///
/// - Parameters:
///   - created: seconds since 1970.
///   - name: UTF-8, at least one byte; `email` at least four, `bio` at least eight.
@inlinable
public func digest(
    age: Int16, department: UInt64, score: Double, created: Double, active: Bool,
    name: UnsafeRawBufferPointer, email: UnsafeRawBufferPointer, bio: UnsafeRawBufferPointer
) -> UInt64 {
    let numbers = UInt64(age) &+ department &+ UInt64(score) &+ UInt64(created) &+ (active ? 1 : 0)
    let lengths = UInt64(name.count) &+ UInt64(email.count) &+ UInt64(bio.count)
    return numbers &+ lengths &+ UInt64(name[0]) &+ UInt64(email[3]) &+ UInt64(bio[7])
}

/// As ``digest(age:department:score:created:active:name:email:bio:)-(_,_,_,_,_,UnsafeRawBufferPointer,_,_)`` over
/// Swift strings.
@inlinable
public func digest(
    age: Int16, department: UInt64, score: Double, created: Double, active: Bool,
    name: consuming String, email: consuming String, bio: consuming String
) -> UInt64 {
    name.withUTF8 { name in
        email.withUTF8 { email in
            bio.withUTF8 { bio in
                digest(
                    age: age, department: department, score: score, created: created, active: active,
                    name: UnsafeRawBufferPointer(name), email: UnsafeRawBufferPointer(email),
                    bio: UnsafeRawBufferPointer(bio))
            }
        }
    }
}

/// What the traversal workload sums for each object.
@inlinable
public func nameDigest(_ name: UnsafeRawBufferPointer) -> UInt64 {
    UInt64(name.count) &+ UInt64(name[0])
}

/// As ``nameDigest(_:)-(UnsafeRawBufferPointer)`` over a Swift string.
@inlinable
public func nameDigest(_ name: consuming String) -> UInt64 {
    name.withUTF8 { nameDigest(UnsafeRawBufferPointer($0)) }
}
