/// Something that has work for when a process has little else to do. Thread-safe.
package protocol QuietListener: AnyObject, Sendable {
    /// An interval has passed in which little happened. May take a while and wait for the disk.
    func quietPassed()
}
