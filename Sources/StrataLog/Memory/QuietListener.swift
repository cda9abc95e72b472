/// Something that has work for when a process has little else to do. Thread-safe.
package protocol QuietListener: AnyObject, Sendable {
    /// Little happens any more. May take a while and wait for the disk.
    func quietBegan()
}
