import Foundation
import TestFixtures
import Testing

@testable import Operation

@Suite(.bounded) struct TestRunnerTests {
  @Test func `A process that runs tests is recognized by its arguments`() {
    #expect(TestRunner.isRunning)
    #expect(TestRunner.isTestRunner(["/usr/libexec/swiftpm-testing-helper"]))
    #expect(TestRunner.isTestRunner(["tests", "--testing-library", "swift-testing"]))
    #expect(!TestRunner.isTestRunner(["server", "--port", "80"]))
  }

  #if os(Linux)
    @Test func `The arguments are read without the standard library, which ends the process if it cannot read them`() {
      expect(ProcessArguments.all, equals: CommandLine.arguments)
      expect(ProcessArguments.read("/no/such/file"), equals: nil)
    }
  #endif
}
