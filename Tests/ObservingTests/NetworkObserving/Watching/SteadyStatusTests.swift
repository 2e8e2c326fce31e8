#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded) struct SteadyStatusTests {
    @Test func `It rises at once`() {
      var status = SteadyStatus(.disconnected)
      expect(status.update(.requiresConnection), equals: .report(.requiresConnection))
      expect(status.update(.connected), equals: .report(.connected))
      expect(status.update(.connected), equals: .nothing)
      expect(status.endWait(), equals: nil)
    }

    @Test func `It falls when it has stayed lower`() {
      var status = SteadyStatus(.connected)
      expect(status.update(.requiresConnection), equals: .wait)
      expect(status.update(.disconnected), equals: .nothing)
      expect(status.current, equals: .connected)
      expect(status.endWait(), equals: .disconnected)
      expect(status.current, equals: .disconnected)
      expect(status.endWait(), equals: nil)
    }

    @Test func `It does not fall when it rises in time`() {
      var status = SteadyStatus(.connected)
      expect(status.update(.disconnected), equals: .wait)
      expect(status.update(.connected), equals: .stopWaiting)
      expect(status.endWait(), equals: nil)
      expect(status.current, equals: .connected)
    }

    @Test func `Rising above the reported status ends the wait`() {
      var status = SteadyStatus(.requiresConnection)
      expect(status.update(.disconnected), equals: .wait)
      expect(status.update(.connected), equals: .report(.connected))
      expect(status.endWait(), equals: nil)
    }
  }
#endif
