import AlcoveCore
import AlcoveWorkspace
import Testing

struct CalculatorTests {
    @Test(arguments: [
        ("1+2*3", "7"), ("(1+2)*3", "9"), ("0.1+0.2", "0.3"), ("1/8", "0.125"), ("2^10", "1024"), ("2^3^2", "512"),
        ("-2^2", "-4"), ("2^-1", "0.5"), ("10 % 3", "1"), ("-7 % 3", "-1"), ("5.5 % 2", "1.5"), ("1.10*3", "3.3"),
        ("sqrt(16)", "4"), ("sqrt(0.25)", "0.5"), ("abs(-3.5)", "3.5"), ("round(2.5)", "3"), ("round(-2.5)", "-3"),
        ("floor(-1.5)", "-2"), ("ceil(1.2)", "2"), ("max(1, 3, 2)", "3"), ("min(4,-1)", "-1"), ("3 × 4 ÷ 2", "6"),
        ("（1＋2）＊3", "9"), ("1e3+1", "1001"), ("0^0", "1"),
        (
            "99999999999999999*99999999999999999",
            "9999999999999999800000000000000001"
        ), ("- - 3", "3"), ("0.1*0.1*0.1", "0.001"), ("√9", "3"),
    ])
    func exactly(_ expression: String, _ expected: String) throws {
        let answer = try Calculator.evaluate(expression)
        #expect(answer.text == expected)
        #expect(answer.isExact)
    }

    @Test(arguments: [
        ("1/3", "0.333333333333"), ("2^0.5", "1.41421356237"), ("pi", "3.14159265359"), ("sin(0)", "0"),
        ("2^1000", "1.07150860719e301"), ("ln(e)", "1"), ("sqrt(2)", "1.41421356237"), ("1/3*3", "1"),
    ])
    func about(_ expression: String, _ expected: String) throws {
        let answer = try Calculator.evaluate(expression)
        #expect(answer.text == expected)
        #expect(!answer.isExact)
    }

    @Test(arguments: [
        ("", "bad_expression"), ("1+", "bad_expression"), ("1/0", "division_by_zero"), ("5 % 0", "division_by_zero"),
        ("0^-1", "division_by_zero"), ("1,000", "bad_expression"), ("1 000", "bad_expression"),
        ("20%", "bad_expression"),
        ("(1", "bad_expression"), ("1)", "bad_expression"), ("foo(1)", "unknown_name"), ("sqrt(-1)", "not_a_number"),
        ("ln(0)", "not_a_number"), ("(-8)^0.5", "not_a_number"), ("9^9^9", "too_large"),
        ("sqrt(1,2)", "bad_expression"),
        ("1..2", "bad_expression"), ("x = 2", "unknown_name"), ("2 = 2", "bad_expression"),
        ("sqrt 4", "bad_expression"),
        ("system('ls')", "unknown_name"), ("__import__", "bad_expression"), ("1;2", "bad_expression"),
        ("1e999", "too_large"),
    ])
    func refusals(_ expression: String, _ code: String) {
        let error = #expect(throws: InputError.self) { try Calculator.evaluate(expression) }

        #expect(error?.code == code)
    }

    @Test func deepAndLongExpressionsEnd() {
        for text in [
            String(repeating: "(", count: 900), String(repeating: "-", count: 999),
            String(repeating: "2^", count: 400) + "2",
            String(repeating: "9", count: 1_000), String(repeating: "1+", count: 2_000) + "1",
        ] { _ = try? Calculator.evaluate(text) }
        #expect(throws: InputError.self) { try Calculator.evaluate(String(repeating: "(", count: 900)) }
        #expect(throws: InputError.self) { try Calculator.evaluate(String(repeating: "1+", count: 2_000) + "1") }
    }

    @Test func manyRandomExpressionsNeverCrash() {
        var state: UInt64 = 7
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let parts = [
            "1", "0", "9.5", "99999999999999999999", "+", "-", "*", "/", "^", "%", "(", ")", ",", "sqrt", "max(", "e",
            ".",
        ]
        var good = 0
        for _ in 0..<20_000 {
            let text = (0...next(12)).map { _ in parts[next(parts.count)] }.joined()
            if (try? Calculator.evaluate(text)) != nil { good += 1 }
        }
        #expect(good > 100)
    }
}
