#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct SteadyStatusTests {
    @Test func `It rises at once`() {
      var status = SteadyStatus(.disconnected)
      #expect(status.update(.requiresConnection) == .report(.requiresConnection))
      #expect(status.update(.connected) == .report(.connected))
      #expect(status.update(.connected) == .nothing)
      #expect(status.endWait() == nil)
    }

    @Test func `It falls when it has stayed lower`() {
      var status = SteadyStatus(.connected)
      #expect(status.update(.requiresConnection) == .wait)
      #expect(status.update(.disconnected) == .nothing)
      #expect(status.current == .connected)
      #expect(status.endWait() == .disconnected)
      #expect(status.current == .disconnected)
      #expect(status.endWait() == nil)
    }

    @Test func `It does not fall when it rises in time`() {
      var status = SteadyStatus(.connected)
      #expect(status.update(.disconnected) == .wait)
      #expect(status.update(.connected) == .stopWaiting)
      #expect(status.endWait() == nil)
      #expect(status.current == .connected)
    }

    @Test func `Rising above the reported status ends the wait`() {
      var status = SteadyStatus(.requiresConnection)
      #expect(status.update(.disconnected) == .wait)
      #expect(status.update(.connected) == .report(.connected))
      #expect(status.endWait() == nil)
    }
  }
#endif
