/// A date in one of the formats of [RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7).
package struct HTTPDate: Hashable, Sendable {
  package let secondsSince1970: Double

  /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
  ///
  /// - Parameters:
  ///   - text: The date.
  ///   - now: The current date, in seconds since 1970, to which years of two digits are relative.
  package init?(_ text: some StringProtocol, now: Double) {
    let words = text.split { $0 == " " || $0 == "," || $0 == "-" || $0 == "\t" }
    guard words.count == 5 || words.count == 6, Self.weekdays.contains(String(words[0])) else { return nil }
    // Without a zone, it is the format of C's `asctime`, in which the month comes before the day.
    let isASCTime = words.count == 5
    guard isASCTime || words[5] == "GMT" else { return nil }
    let (dayWord, monthWord) = isASCTime ? (words[2], words[1]) : (words[1], words[2])
    let (yearWord, timeWord) = isASCTime ? (words[4], words[3]) : (words[3], words[4])
    guard let day = Self.number(dayWord, digits: 1...2), let month = Self.months[String(monthWord)],
      let time = Self.time(timeWord)
    else { return nil }
    let dates = Self.years(yearWord, now: now).lazy.compactMap { Self.seconds($0, month, day, time) }
    let latest = yearWord.count == 2 ? now + Self.fiftyYears : .infinity
    guard let date = dates.first(where: { $0 <= latest }) else { return nil }
    self.secondsSince1970 = date
  }

  /// The longest fifty years, with thirteen leap days.
  private static let fiftyYears = 18_263.0 * 86_400

  private static let weekdays: Set = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    "Sunday",
  ]

  private static let months = [
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11,
    "Dec": 12,
  ]

  private static func number(_ word: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(word.count), word.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int(word)
  }

  /// The years that the word can mean, the latest first: one for four digits, one in each of three centuries for two.
  private static func years(_ word: some StringProtocol, now: Double) -> [Int] {
    if let year = self.number(word, digits: 4...4) { return [year] }
    // Relative to nothing, it means nothing.
    guard !now.isNaN, let year = self.number(word, digits: 2...2) else { return [] }
    // The mean length of a year is precise enough: only the century counts.
    let yearsSince1970: Double = min(max(now, -6e10), 2.5e11) / (365.2425 * 86_400)
    let currentYear = 1970 + Int(yearsSince1970.rounded(.down))
    let century = currentYear - currentYear % 100
    return [century + 100 + year, century + year, century - 100 + year]
  }

  /// The seconds since 1970; nil if the month has no such day.
  private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Double? {
    guard (1...Self.days(of: month, in: year)).contains(day) else { return nil }
    return Double(Self.days(year, month, day) * 86_400 + time)
  }

  /// The second of the day.
  private static func time(_ word: some StringProtocol) -> Int? {
    let parts = word.split(separator: ":").map { self.number($0, digits: 2...2) }
    guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  /// The number of days of a month.
  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: (year.isMultiple(of: 4) && !year.isMultiple(of: 100)) || year.isMultiple(of: 400) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days since the beginning of 1970 in the Gregorian calendar, as
  /// [Hinnant](https://howardhinnant.github.io/date_algorithms.html#days_from_civil) counts them.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
