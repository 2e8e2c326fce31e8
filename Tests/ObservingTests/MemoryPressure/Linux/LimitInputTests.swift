#if os(Linux)
  import OperationControlGroups
  import OperationEventLoop
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// The counters of a group that are watched with their descriptor.
  @Suite(.bounded) struct LimitInputTests {
    private let tree: FakeTree
    private let group: String

    init() throws {
      self.tree = try FakeTree()
      self.group = self.tree.path("unified/own")
      try self.tree.writeEvents("/own", high: 2)
    }

    @Test func `An error is part of every event, and is ignored`() throws {
      let input = try #require(LimitInput(group: self.group, window: .seconds(2)))
      expect(input.read([.urgent, .error], at: .seconds(1)), equals: .nothing)
      try self.tree.writeEvents("/own", high: 3)
      expect(input.read([.urgent, .error], at: .seconds(2)), equals: .pressure(.warning))
      try self.tree.writeEvents("/own", high: 3, oomKill: 1)
      expect(input.read([.urgent, .error], at: .seconds(3)), equals: .pressure(.critical))
    }

    @Test func `A file that is removed is gone`() throws {
      let input = try #require(LimitInput(group: self.group, window: .seconds(2)))
      try self.tree.remove("unified/own/memory.events")
      expect(input.read([.urgent, .error], at: .seconds(1)), equals: .gone)
      #expect(LimitInput(group: self.group, window: .seconds(2)) == nil)
    }
  }
#endif
