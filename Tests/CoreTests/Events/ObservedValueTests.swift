import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct ObservedValueTests {
  @Test func `A reliable answer stays reliable after a subscription that received nothing`() {
    let source = ChangeSource<Int>()
    let value = ObservedValue(asking: { 7 }, isAnswerReliable: true, subscribe: { source.subscribe($0) })
    expect(value.current, equals: 7)
    value.subscribeToChanges {}.cancel()
    expect(value.current, equals: 7)
    expect(source.subscriberCount, equals: 0)
  }
}
