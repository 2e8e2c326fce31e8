#if SwiftOperationValkey && os(Linux)
  import OperationFleet
  import TestFixtures
  import Testing

  @testable import OperationValkey

  /// What nodes of different versions of a program send each other: the forms of messages stay.
  @Suite(.bounded) struct FleetMessageTests {
    @Test func `Messages are read`() {
      expect(FleetMessage(text: "i42"), equals: .invalidated(FleetEpoch(rawValue: 42)))
      expect(FleetMessage(text: "s7 posts 1"), equals: .stored(key: "posts 1", revision: 7))
      expect(FleetMessage(text: "rposts 1"), equals: .released(key: "posts 1"))
    }

    @Test(arguments: ["", "i", "ix", "s7", "sx a", "x1"])
    func `Others are left out`(_ text: String) {
      expect(FleetMessage(text: text), equals: nil)
    }
  }
#endif
