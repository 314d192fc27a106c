"""A made-up household of 500 notes, English and Chinese, and questions about it.

Sixty facts are asked for; the other notes are about the same rooms, things and persons, so that
a common word alone finds the wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass
import random


@dataclass(frozen=True, slots=True)
class Fact:
    """A note and two ways to ask for it: in its own words, and in others."""

    path: str
    text: str
    question: str
    paraphrase: str


# title | the note | question in its words | question in other words
_ENGLISH = """
Spare key|The spare key lies under the third flower pot beside the back door.|where is the spare key|how do I get in when I am locked out
Boiler pressure|Boiler pressure must stay between 1.2 and 1.8 bar; refill at the blue valve.|what pressure should the boiler have|how many bar for the heating system
Wifi guests|The guest wifi is called Lindenblatt and its password is on the fridge magnet.|what is the guest wifi called|network name for visitors
Tulip bulbs|Tulip bulbs go into the ground in October, fifteen centimetres deep.|when do the tulip bulbs go into the ground|planting time for spring flowers
Cat vaccination|Minka had her vaccination against rabies on 4 March at Dr Hansen.|when was the vaccination of Minka|last shot at the vet
Cellar humidity|The cellar dehumidifier starts at 68 percent humidity.|at which humidity does the dehumidifier start|when is it too damp downstairs
Piano tuning|The piano tuner Mr Okafor comes every May and costs 120 euro.|who is the piano tuner|instrument maintenance person
Window cleaner|The window cleaner rings twice and wants cash.|how does the window cleaner want to be paid|payment for washing the glass
Roof gutter|The roof gutter over the garage was repaired by Dachmann in 2024.|who repaired the roof gutter|rain pipe fixed by which company
Grandma birthday|Grandma Ilse has her birthday on 9 February and loves marzipan.|when is the birthday of grandma Ilse|what sweets to bring to granny
Bike lock|The code of the bike lock is the year the house was built.|code of the bike lock|combination for the bicycle chain
Solar inverter|The solar inverter blinks orange when the grid voltage is too high.|why does the solar inverter blink orange|amber light on the photovoltaic box
Coffee machine|Descale the coffee machine with citric acid every six weeks.|how often to descale the coffee machine|remove limescale from espresso maker
Freezer alarm|The freezer alarm is silenced by holding the snowflake button for three seconds.|how to silence the freezer alarm|beeping of the ice box
Septic tank|The septic tank was emptied last in August by Kanal Meier.|when was the septic tank emptied|sewage pit pumped out
Hedge trimming|Hedge trimming is forbidden from March to September because of nesting birds.|when is hedge trimming forbidden|may I cut the bushes in summer
Smoke detectors|Smoke detectors were replaced in 2023 and last ten years.|when were the smoke detectors replaced|fire alarm age
Water meter|The water meter is behind the panel in the guest toilet.|where is the water meter|place to read the consumption of water
Nut allergy|Jonas has a nut allergy; the emergency pen is in the hall drawer.|where is the emergency pen of Jonas|medicine for the boy with the peanut problem
Lawn mower|The lawn mower takes 95 octane petrol without oil.|which petrol does the lawn mower take|fuel for cutting grass
Parcel shed|Parcels go into the shed when the yellow sign hangs out.|where do parcels go|delivery when nobody is home
Rubbish days|Paper rubbish is collected every second Tuesday, glass never.|when is paper rubbish collected|bin day for cardboard
Aquarium heater|The aquarium heater is set to 25 degrees for the neon tetras.|temperature of the aquarium heater|warmth for the fish
School run|Mia's school bus leaves the corner at 7:22.|when does the school bus of Mia leave|morning transport of our daughter
Chimney sweep|The chimney sweep comes in the last week of November.|when does the chimney sweep come|soot cleaning visit
Paint colour|The hallway paint is called Oyster 14 by Farbwerk.|what is the hallway paint called|wall colour in the corridor
Radiator bleeding|The radiator key for bleeding hangs inside the fuse box.|where hangs the radiator key|tool to let air out of the heating
Fuse boiler|Fuse F12 belongs to the boiler and F13 to the sauna.|which fuse belongs to the sauna|breaker for the sweat room
Insurance number|The household insurance number ends in 7731 and the agent is Frau Peters.|who is the insurance agent|contact after burglary damage
Sourdough|The sourdough starter is fed on Thursdays with rye flour.|when is the sourdough starter fed|caring for the bread yeast
"""
_CHINESE = """
备用钥匙|备用钥匙放在后门右边第三个花盆下面。|备用钥匙放在哪里|被锁在门外怎么进屋
热水器压力|热水器的压力要保持在一点五巴左右，从蓝色阀门补水。|热水器的压力是多少|暖气系统要几巴
访客网络|访客无线网络叫做菩提叶，密码贴在冰箱上。|访客无线网络叫什么|客人上网用哪个名字
郁金香|郁金香球根十月下旬种，深度十五厘米。|郁金香球根什么时候种|春天的花几月栽
猫的疫苗|咪咪三月四日在韩医生那里打了狂犬疫苗。|咪咪什么时候打狂犬疫苗|小猫上次看兽医
地下室湿度|地下室除湿机在湿度百分之六十八时启动。|除湿机湿度多少启动|楼下太潮怎么办
钢琴调音|钢琴调音师欧先生每年五月来，收费八百元。|钢琴调音师是谁|乐器保养找哪位
擦窗工|擦窗工要收现金，会按两次门铃。|擦窗工怎么付钱|洗玻璃的师傅报酬
车库屋檐|车库屋檐的雨水槽二〇二四年由大顺公司修好。|雨水槽是哪家公司修的|排水管坏了上次找谁
外婆生日|外婆的生日是二月九日，她最爱吃杏仁糖。|外婆的生日是哪天|给姥姥带什么甜食
自行车锁|自行车锁的密码是房子建成的年份。|自行车锁的密码|单车链条怎么打开
太阳能逆变器|太阳能逆变器闪橙色灯表示电网电压过高。|逆变器为什么闪橙色灯|光伏盒子黄灯
咖啡机|咖啡机每六个星期用柠檬酸除垢一次。|咖啡机多久除垢|清理浓缩机的水碱
冰柜报警|按住雪花键三秒可以关掉冰柜报警。|怎么关掉冰柜报警|冷冻柜一直响
化粪池|化粪池上次是八月由梅耶公司清理的。|化粪池上次什么时候清理|污水坑抽走
修剪树篱|三月到九月禁止修剪树篱，因为有鸟筑巢。|什么时候禁止修剪树篱|夏天可以剪灌木吗
烟雾报警器|烟雾报警器二〇二三年换过，可以用十年。|烟雾报警器哪年换的|火警装置多旧了
水表|水表在客用卫生间的挡板后面。|水表在哪里|看用水量的地方
坚果过敏|小杰对坚果过敏，急救笔在走廊抽屉里。|小杰的急救笔在哪里|男孩吃了花生怎么办
割草机|割草机加九十五号汽油，不要加机油。|割草机加什么汽油|除草的机器用哪种燃料
快递棚|挂出黄牌子时快递放进小棚里。|快递放在哪里|没人在家怎么收包裹
垃圾日|废纸垃圾每隔一周的星期二收。|废纸垃圾哪天收|纸箱什么时候扔
鱼缸加热|鱼缸加热棒设在二十五度，养霓虹灯鱼。|鱼缸加热棒设在几度|养鱼的水温
校车|小米的校车早上七点二十二分从路口开走。|校车几点开走|女儿早晨坐车
扫烟囱|扫烟囱的师傅十一月最后一个星期来。|扫烟囱的师傅什么时候来|清理煤灰
走廊油漆|走廊油漆的颜色叫牡蛎十四号。|走廊油漆叫什么颜色|过道墙面是哪种色
暖气放气|暖气放气的钥匙挂在保险丝盒里。|放气的钥匙挂在哪里|排掉散热器空气的工具
保险丝|保险丝十二号管锅炉，十三号管桑拿房。|桑拿房是几号保险丝|汗蒸间跳闸
家庭保险|家庭保险的经办人是彼得斯女士，号码尾数七七三一。|家庭保险的经办人是谁|被盗以后联系谁
酵母面团|酸面团酵头每个星期四用黑麦粉喂。|酸面团酵头哪天喂|照顾面包菌种
"""

_ROOMS = (
    "kitchen",
    "cellar",
    "garage",
    "garden",
    "hallway",
    "bathroom",
    "attic",
    "study",
    "nursery",
    "terrace",
)
_THINGS = (
    "lamp",
    "pump",
    "boiler",
    "window",
    "door",
    "heater",
    "key",
    "shelf",
    "valve",
    "meter",
    "fridge",
    "alarm",
)
_WHO = (
    "Anna",
    "Jonas",
    "Mia",
    "Grandma",
    "the plumber",
    "the neighbour",
    "Dr Hansen",
    "Frau Peters",
)
_DID = (
    "was checked by",
    "was moved by",
    "was bought with",
    "was cleaned by",
    "belongs to",
    "was painted by",
    "annoys",
)
_ROOMS_ZH = (
    "厨房",
    "地下室",
    "车库",
    "花园",
    "走廊",
    "卫生间",
    "阁楼",
    "书房",
    "儿童房",
    "阳台",
)
_THINGS_ZH = (
    "灯",
    "水泵",
    "锅炉",
    "窗户",
    "门",
    "暖气",
    "钥匙",
    "架子",
    "阀门",
    "电表",
    "冰箱",
    "报警器",
)
_WHO_ZH = ("安娜", "小杰", "小米", "外婆", "水管工", "邻居", "韩医生", "彼得斯女士")
_DID_ZH = ("检查过", "搬走了", "买来的", "清洗过", "保管着", "刷过漆", "不喜欢")


def facts() -> list[Fact]:
    """Return the sixty facts that are asked for."""
    found: list[Fact] = []
    for language, block in (("en", _ENGLISH), ("zh", _CHINESE)):
        for row in block.strip().splitlines():
            title, note, question, paraphrase = row.split("|")
            name = title.lower().replace(" ", "-")
            path = f"/memory/{language}-{name}-note.md"
            found.append(Fact(path, f"# {title}\n\n{note}\n", question, paraphrase))
    return found


def notes(count: int = 500, seed: int = 7) -> dict[str, str]:
    """Return path and text of a household's notes, the facts among them."""
    chance = random.Random(seed)
    found = {fact.path: fact.text for fact in facts()}
    number = 0
    while len(found) < count:
        number += 1
        if number % 5 < 3:
            room, thing = chance.choice(_ROOMS), chance.choice(_THINGS)
            lines = [
                f"The {chance.choice(_THINGS)} in the {chance.choice(_ROOMS)} {chance.choice(_DID)} {chance.choice(_WHO)} on day {chance.randint(1, 28)}."
                for _ in range(chance.randint(1, 6))
            ]
            text = f"# The {thing} of the {room}\n\n" + "\n".join(lines) + "\n"
        else:
            room, thing = chance.choice(_ROOMS_ZH), chance.choice(_THINGS_ZH)
            lines = [
                f"{chance.choice(_ROOMS_ZH)}的{chance.choice(_THINGS_ZH)}是{chance.choice(_WHO_ZH)}{chance.choice(_DID_ZH)}，{chance.randint(1, 28)}号。"
                for _ in range(chance.randint(1, 6))
            ]
            text = f"# {room}的{thing}\n\n" + "\n".join(lines) + "\n"
        found[f"/memory/topic-{number:04d}.md"] = text
    return found
