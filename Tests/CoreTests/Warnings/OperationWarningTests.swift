import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct OperationWarningTests {
  @Test func `Misuse is printed in debug builds, and a failure of the system in all`() {
    let misuse = OperationWarning(code: .invalidArgument, message: "")
    let failure = OperationWarning(code: .invalidArgument, severity: .failure, message: "")
    #expect(misuse.isPrinted(inDebugBuild: true))
    #expect(!misuse.isPrinted(inDebugBuild: false))
    #expect(failure.isPrinted(inDebugBuild: true))
    #expect(failure.isPrinted(inDebugBuild: false))
  }
}
