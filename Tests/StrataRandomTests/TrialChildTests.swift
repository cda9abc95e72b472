import Testing

/// What a child process of ``RandomProgramTests`` does.
@Suite(.enabled(if: TrialChild.folderOfTask != nil)) struct TrialChildTests {
    @Test func trials() throws {
        guard let folder = TrialChild.folderOfTask else { return }
        try TrialChild.work(in: folder)
    }
}
