import OperationCore
import OperationMemoryPressure
import TestFixtures
import Testing

@Suite(.bounded) struct MockMemoryPressureSourceTests {
  private let source = MockMemoryPressureSource()
  private let received = Log<MemoryPressure>()

  @Test func `A subscriber receives the current level at once, and then each that is sent`() {
    let subscription = AnySendableMemoryPressureSource(self.source).subscribe { self.received.append($0) }
    expect(self.received.all, equals: [.normal])
    self.source.send(pressure: .critical)
    self.source.send(pressure: .critical)
    self.source.send(pressure: .warning)
    expect(self.received.all, equals: [.normal, .critical, .critical, .warning])
    expect(self.source.currentPressure, equals: .warning)
    expect(self.source.subscriberCount, equals: 1)
    subscription.cancel()
    self.source.send(pressure: .normal)
    expect(self.received.all.count, equals: 4)
    expect(self.source.subscriberCount, equals: 0)
  }

  @Test func `Levels are sets, and describe their members`() {
    expect(MemoryPressure.all, equals: [.normal, .warning, .critical])
    expect(MemoryPressure.defaultEvictable, equals: [.warning, .critical])
    expect(MemoryPressure.all.description, equals: "[normal, warning, critical]")
    expect(MemoryPressure().description, equals: "[]")
  }
}
