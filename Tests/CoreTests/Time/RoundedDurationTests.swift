import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct RoundedDurationTests {
  @Test(arguments: [
    (Duration.zero, "0 s"), (.nanoseconds(1), "1 ns"), (Duration(attoseconds: 1), "0.1 ns"),
    (.microseconds(1500), "1.5 ms"), (.milliseconds(50), "50 ms"), (.milliseconds(250), "250 ms"),
    (.microseconds(250_499), "250 ms"), (.microseconds(999_499), "999 ms"), (.microseconds(999_500), "1 s"),
    (.seconds(3.899_999_912), "3.9 s"), (.seconds(4.6), "4.6 s"), (.seconds(59.94), "59.9 s"),
    (.seconds(59.95), "1 min"), (.seconds(125), "2 min 5 s"), (.seconds(3599.6), "1 h"),
    (.seconds(12_000), "3 h 20 min"),
    (.seconds(86_399), "1 d"), (.seconds(90_000), "1 d 1 h"), (.seconds(100 * 365 * 86_400), "36500 d"),
    (.seconds(-3.9), "-3.9 s"), (Duration(attoseconds: .max), "1969226660422097 d"),
    (Duration(attoseconds: .min), "-1969226660422097 d"),
  ])
  func `A duration in a sentence is rounded to what a reader needs`(duration: Duration, text: String) {
    expect(duration.roundedText, equals: text)
  }
}
