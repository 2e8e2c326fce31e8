import OperationCore
import OperationPausing
import TestFixtures
import Testing

@Suite(.bounded) struct LocalRejectionTests {
  private struct Busy: LocalRejection {}

  private enum UploadError: LocalRejection {
    case tooManyUploads
    case noSuchFile

    var hasBegun: Bool { self == .noSuchFile }
  }

  @Test func `An error says whether its run was rejected before the operation began`() {
    #expect(Busy().isLocalRejection)
    #expect(Busy().afterAttempt().isLocalRejection)
    #expect(UploadError.tooManyUploads.isLocalRejection)
    #expect(!UploadError.noSuchFile.isLocalRejection)
    #expect(!Refused().isLocalRejection)
    #expect(OperationWaitTimedOut(after: .seconds(1)).isLocalRejection)
  }
}
