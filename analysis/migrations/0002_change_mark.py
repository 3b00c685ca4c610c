from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0001_initial'),
        ('experiments', '0003_gates_hold_runs'),
        ('stores', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangeMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.CharField(max_length=40)),
            ],
        ),
    ]
