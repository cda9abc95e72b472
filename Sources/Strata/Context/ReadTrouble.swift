/// What a context could not read where nothing can be thrown: in a property of an object, which reads as empty.
struct ReadTrouble {
    /// Why objects read as empty. As long as there is one, the context is not saved: the program may have copied what
    /// it read.
    var errors: [NSManagedObjectID: any Error] = [:]
    /// How often something could not be read since the context was made, and why the last time.
    private(set) var count = 0
    private(set) var last: (any Error)?
    /// The fault that is fired to see whether its object is there.
    var triedFault: NSManagedObject?

    /// Something could not be read.
    mutating func record(_ error: any Error) {
        count += 1
        last = error
    }
}
