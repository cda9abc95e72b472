internal import CStrataSupport

/// The descriptors 0, 1 and 2, which every part of a program takes for standard input, output and error.
///
/// A program that was started with one of them closed gets it for the next file that it opens, and whatever prints then
/// writes into that file. Nothing that Strata opens is on one of them. Safe to use from any thread.
public enum StandardDescriptors {
    /// Has /dev/null open under those that are closed (open(2)), so that reading and writing them goes on failing.
    /// Before calls of others that open files to write them: Foundation's.
    public static func occupy() { strata_standard_descriptors_occupy() }

    /// Writes a message to standard error (write(2)). It gets lost where nothing takes it: that is no reason to stop
    /// the program, as Foundation's `FileHandle` does.
    public static func writeError(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                if let start = bytes.baseAddress { strata_standard_error_write(start, bytes.count) }
            }
        }
    }
}
