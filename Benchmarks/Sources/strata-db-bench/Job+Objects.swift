import BenchSupport
import ObjectPeople

extension Job {
    /// What single operations on managed objects cost.
    func objects() throws {
        let figures = try ObjectFigures()
        let creation = try figures.creation(count: 100_000)
        emit("create_ns", creation.createNanoseconds, "ns/object")
        emit("save_objects_per_s", creation.savedPerSecond, "objects/s")
        emit("bytes_per_object", creation.bytesPerObject, "bytes beyond strings")
        let access = try figures.access(count: 1_000, rounds: 1_000)
        emit("read_int16_ns", access.readInt16, "ns")
        emit("read_short_string_ns", access.readShortString, "ns")
        emit("set_int16_ns", access.setInt16, "ns")
        emit("set_string_ns", access.setString, "ns")
        emit("cascade_objects_per_s", try figures.cascade(parents: 1_000, children: 1_000), "objects/s")
    }
}
