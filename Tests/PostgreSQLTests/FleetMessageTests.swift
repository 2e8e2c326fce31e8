#if SwiftOperationPostgreSQL
  import OperationFleet
  import TestFixtures
  import Testing

  @testable import OperationPostgreSQL

  /// What nodes of different versions of a program send each other: the forms of messages stay.
  @Suite(.bounded) struct FleetMessageTests {
    @Test func `Notifications are read`() {
      expect(FleetMessage(notification: "i42"), equals: .invalidated(FleetEpoch(rawValue: 42)))
      expect(FleetMessage(notification: "s7 706f737473"), equals: .stored(key: "posts", revision: 7))
      expect(FleetMessage(notification: "r706f737473"), equals: .released(key: "posts"))
    }

    @Test(arguments: ["", "i", "ix", "s7", "sx 61", "s7 6", "r6g", "x1"])
    func `Others are left out`(_ text: String) {
      expect(FleetMessage(notification: text), equals: nil)
    }
  }
#endif
